//! Tree-sitter's memory comes from the program's own allocator.
//!
//! A static program on musl would else pay for two: musl's own asks the kernel for pages and gives them back all the
//! time, which takes as long as a third of a parse. The only module of this crate with `unsafe` code: C's functions know
//! no size when they free, so it is kept in front of each block.
#![allow(unsafe_code, reason = "tree-sitter takes its allocator as C functions over raw memory")]

use std::alloc::{self, Layout, handle_alloc_error};
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::Allocator;

/// How blocks are aligned, as C's `malloc` does for any type; also the room for a block's size in front of it.
const ALIGNMENT: usize = 16;

/// Makes tree-sitter use the program's allocator; called before anything of tree-sitter's is made.
pub(crate) fn share() {
    static SHARED: Once = Once::new();
    // SAFETY: parsing begins here and nowhere else, so that no memory of tree-sitter's is in use yet; the four functions
    // keep what C asks of them.
    SHARED.call_once(|| unsafe { tree_sitter::set_allocator(Some(Allocator { malloc, calloc, realloc, free })) });
}

/// The block that holds `size` bytes and their number.
fn layout(size: usize) -> Layout {
    let whole = size.checked_add(ALIGNMENT).and_then(|whole| Layout::from_size_align(whole, ALIGNMENT).ok());
    whole.expect("no text that is parsed needs half of the address space")
}

/// Notes the size in front of a new block; returns what is behind it.
///
/// # Safety
/// `block` is null or was allocated with `layout(size)`.
unsafe fn begin(block: *mut u8, size: usize) -> *mut c_void {
    if block.is_null() {
        handle_alloc_error(layout(size));
    }
    // SAFETY: the block has `ALIGNMENT` bytes in front, aligned for a number.
    unsafe {
        block.cast::<usize>().write(size);
        block.add(ALIGNMENT).cast()
    }
}

/// The block around `memory` and its size.
///
/// # Safety
/// `memory` came from [`begin`] and is in use.
unsafe fn whole(memory: *mut c_void) -> (*mut u8, usize) {
    // SAFETY: `begin` wrote the size so far in front of what it returned.
    unsafe {
        let block = memory.cast::<u8>().sub(ALIGNMENT);
        (block, block.cast::<usize>().read())
    }
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: the layout has a size above zero.
    unsafe { begin(alloc::alloc(layout(size)), size) }
}

unsafe extern "C" fn calloc(count: usize, each: usize) -> *mut c_void {
    let size = count.saturating_mul(each);
    // SAFETY: the layout has a size above zero.
    unsafe { begin(alloc::alloc_zeroed(layout(size)), size) }
}

unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    if memory.is_null() {
        // SAFETY: as C has it, this is `malloc`.
        return unsafe { malloc(size) };
    }
    // SAFETY: tree-sitter gives back what it got from these functions, once.
    unsafe {
        let (block, old) = whole(memory);
        begin(alloc::realloc(block, layout(old), layout(size).size()), size)
    }
}

unsafe extern "C" fn free(memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: tree-sitter gives back what it got from these functions, once.
    unsafe {
        let (block, size) = whole(memory);
        alloc::dealloc(block, layout(size));
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn blocks_keep_their_bytes_however_they_grow() {
        for sizes in [[0, 1, 100], [100, 10_000, 3], [8, 8, 1 << 20]] {
            // SAFETY: each block is written within its size and given back once.
            unsafe {
                let mut memory = ptr::null_mut();
                let mut kept = 0;
                for size in sizes {
                    memory = realloc(memory, size);
                    assert_eq!(memory as usize % ALIGNMENT, 0);
                    let bytes = std::slice::from_raw_parts_mut(memory.cast::<u8>(), size);
                    assert!(bytes.iter().take(kept).all(|byte| *byte == 7), "{sizes:?}");
                    bytes.fill(7);
                    kept = size;
                }
                free(memory);
                let zeroed = calloc(3, 5);
                assert_eq!(std::slice::from_raw_parts(zeroed.cast::<u8>(), 15), [0; 15]);
                free(zeroed);
                free(ptr::null_mut());
            }
        }
    }
}
