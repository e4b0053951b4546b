//! The memory of a static program on musl: one allocator for Rust and C alike, in place of musl's own.
//!
//! musl's asks the kernel for pages and gives them back all the time, and each page is touched for the first time at the
//! price of a fault: in a process that lives for a millisecond that is half of its time. Here `dlmalloc` keeps the books
//! and large blocks come with all of their pages. The functions have C's names, so that the linker takes them for all of
//! the program, tree-sitter's grammars included. The only module of the command with `unsafe` code.
#![allow(unsafe_code, reason = "an allocator hands out raw memory, under the names that C knows")]

use std::ffi::c_void;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dlmalloc::{Allocator, Dlmalloc};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// How blocks are aligned, as C's `malloc` does for any type.
const ALIGNMENT: usize = 16;
/// Of this size a run of pages is made to be there at once, in bytes: it is asked for one block that is used whole.
/// `dlmalloc` asks for 64 KiB where less is needed, and of these many pages are never used.
const RUN: RangeInclusive<usize> = (64 << 10) + 1..=512 << 10;

static MEMORY: Mutex<Dlmalloc<Pages>> = Mutex::new(Dlmalloc::new_with_allocator(Pages));

fn memory() -> MutexGuard<'static, Dlmalloc<Pages>> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pages of the kernel.
struct Pages;

// SAFETY: each region is fresh, private and writable memory of at least the size asked for, and is given back as a whole
// or at its end.
unsafe impl Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let flags = if RUN.contains(&size) { MapFlags::PRIVATE | MapFlags::POPULATE } else { MapFlags::PRIVATE };
        // SAFETY: the kernel chooses a place where nothing is.
        match unsafe { mmap_anonymous(ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, flags) } {
            Ok(region) => (region.cast(), size, 0),
            Err(_) => (ptr::null_mut(), 0, 0),
        }
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, region: *mut u8, old: usize, new: usize) -> bool {
        // SAFETY: what is behind `new` bytes of the region is not used any more.
        unsafe { munmap(region.add(new).cast(), old - new).is_ok() }
    }

    fn free(&self, region: *mut u8, size: usize) -> bool {
        // SAFETY: the region is not used any more.
        unsafe { munmap(region.cast(), size).is_ok() }
    }

    fn can_release_part(&self, _: u32) -> bool {
        true
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        4096
    }
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    unsafe { memory().malloc(size, ALIGNMENT).cast() }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, each: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(each) else { return ptr::null_mut() };
    // SAFETY: any size may be asked for.
    unsafe { memory().calloc(size, ALIGNMENT).cast() }
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    if !alignment.is_power_of_two() {
        return ptr::null_mut();
    }
    // SAFETY: the alignment is one.
    unsafe { memory().c_memalign(alignment, size).cast() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        return malloc(size);
    }
    // SAFETY: as C has it, the block came from these functions and was not given back.
    unsafe { memory().c_realloc(block.cast(), size).cast() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: *mut c_void) {
    if !block.is_null() {
        // SAFETY: as C has it, the block came from these functions and was not given back.
        unsafe { memory().c_free(block.cast()) }
    }
}
