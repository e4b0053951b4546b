// What a person at the window does and sees, in the words of the workbench.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { sleep, until } from "./checks.mjs";

/** What a person does and sees. */
export class Person {
  constructor(page, pictures) {
    this.page = page;
    this.pictures = pictures;
  }

  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input");
    await input.waitFor();
    await input.fill(`>${title}`);
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first();
    await row.waitFor();
    await row.click();
  }

  async open(name) {
    await this.page.keyboard.press("Control+p");
    const input = this.page.locator(".quick-input-widget input");
    await input.waitFor();
    await input.fill(name);
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: name.split("/").at(-1) }).first();
    await row.waitFor();
    await row.click();
    await this.tab(name.split("/").at(-1));
  }

  async tab(name) {
    await this.page.locator(".tab.active", { hasText: name }).first().waitFor();
    await this.page.waitForSelector(".editor-instance .view-line");
  }

  line(text) {
    return this.page.locator(".editor-instance .view-line", { hasText: text }).first();
  }

  /** What stands over a line and can be clicked. */
  lens(text) {
    return this.page.locator(".codelens-decoration a", { hasText: text }).first();
  }

  /** Puts the cursor into a line, at a column from 1. */
  async go(line, column = 1) {
    await this.page.keyboard.press("Control+g");
    const input = this.page.locator(".quick-input-widget input");
    await input.waitFor();
    await input.fill(`:${line}:${column}`);
    await sleep(200);
    await this.page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  status() {
    return this.page.locator("#ruleline\\.ruleline\\.ruleline\\.status, [id*='ruleline.status']").first();
  }

  says(text) {
    return until(async () => {
      const said = await this.status().innerText().catch(() => "");
      return said.replace(/\s+/g, " ").includes(text);
    }, 30_000);
  }

  /** The menu of the light bulb at the cursor. */
  async actions(row) {
    await until(async () => {
      await this.page.keyboard.press("Control+.");
      const shown = this.page.locator(".action-widget .monaco-list-row", { hasText: row });
      const found = await shown.first().waitFor({ timeout: 4000 }).then(() => true, () => false);
      if (!found) {
        await this.page.keyboard.press("Escape");
      }
      return found;
    });
    await sleep(500);
    return this.page.locator(".action-widget .monaco-list-row", { hasText: row }).first();
  }

  /** Makes the side bar wide enough for what stands in it. */
  async widen() {
    const sash = await this.page.locator(".sidebar").first().boundingBox();
    const x = sash.x + sash.width;
    await this.page.mouse.move(x, 500);
    await this.page.mouse.down();
    await this.page.mouse.move(x + 80, 500, { steps: 4 });
    await this.page.mouse.up();
  }

  /** What the pages in the editor's frames say. */
  async frameText() {
    const texts = this.page.frames().map((frame) => frame.locator("body").innerText({ timeout: 1000 }).catch(() => ""));
    return (await Promise.all(texts)).join("\n");
  }

  async picture(name, settle = 600) {
    if (this.pictures) {
      mkdirSync(this.pictures, { recursive: true });
      await sleep(settle);
      await this.page.screenshot({ path: join(this.pictures, `vscode-${name}.png`) });
    }
  }

  /** Takes away what was said in the corner; the command is there only where something was. */
  async quiet() {
    const toast = this.page.locator(".notification-toast").first();
    while (await toast.isVisible()) {
      await toast.hover();
      await toast.locator(".codicon-notifications-clear").click();
      await sleep(300);
    }
  }
}
