// What the extension host calls: runs the suite with mocha and leaves the result in the file that the driver waits for.
const { appendFileSync, renameSync } = require("node:fs");
const path = require("node:path");
const Mocha = require("mocha");

exports.run = () =>
  new Promise((resolve) => {
    const out = process.env.RULELINE_TEST_OUT;
    const say = (line) => appendFileSync(`${out}.part`, `${line}\n`);
    globalThis.say = say;
    const mocha = new Mocha({ timeout: 90_000 });
    mocha.addFile(path.join(__dirname, "suite.cjs"));
    const running = mocha.run(() => {
      say(JSON.stringify({ passed: running.stats.passes, failed: running.stats.failures }));
      renameSync(`${out}.part`, out);
      resolve();
    });
    running
      .on("pass", (test) => say(`ok   ${test.title}`))
      .on("fail", (test, error) => say(`FAIL ${test.title}  ${error.message.replace(/\s+/g, " ")}`));
  });
