// Somebody who installed the extension and reads nothing but the walkthrough: from an empty project to a first finding.
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { check, until, write } from "./checks.mjs";
import { start } from "./editor.mjs";
import { Person } from "./person.mjs";

export async function asNewcomer(given) {
  const root = join(realpathSync(given.scratch), "first-steps");
  mkdirSync(root);
  write(join(root, "notes.txt"), "Buy bread.\n");
  const editor = await start({ ...given, given: ["--disable-workspace-trust"] });
  const person = new Person(editor.page, given.pictures);
  const { page } = person;
  try {
    // Wide enough for the column beside the steps.
    await page.setViewportSize({ width: 1400, height: 700 });
    await page.goto(`${editor.address}/?folder=${root}`);
    await page.waitForSelector(".monaco-workbench");
    check("without a rulebook nothing is said to hold", await person.says("0 rules"), await person.status().innerText());
    await person.command("Ruleline: Get Started");
    const button = page.locator(".gettingStartedContainer").getByRole("button", { name: "Create Rulebook" }).first();
    await button.waitFor();
    check("the walkthrough begins with a rule", await until(async () => /forbid = /.test(await person.frameText()), 20_000));
    await person.picture("walkthrough", 1500);
    await button.click();
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "One rule" }).click();
    await person.tab("rules.toml");
    check("the rule that was shown is in the project", readFileSync(join(root, ".ruleline/rules.toml"), "utf8").includes('id = "no-todo"'));
    check("it holds at once", await person.says("1 rule"), await person.status().innerText());
    await person.open("notes.txt");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("TODO: butter", { delay: 15 });
    await page.waitForSelector(".squiggly-error");
    check("what it forbids is underlined", true);
    const row = await person.actions("Explain no-todo");
    await row.click();
    const said = page.locator(".notifications-toasts", { hasText: "Open an issue instead" });
    check("and explained", await said.waitFor({ timeout: 20_000 }).then(() => true, () => false));
  } catch (error) {
    await page.screenshot({ path: join(given.scratch, "failed.png") });
    check("a newcomer gets to a first finding", false, error.stack);
  } finally {
    await editor.close();
    editor.end();
  }
}
