import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { launchBrowser, missingBrowser } from '../../test/support/chromium.ts';
import { formHosts, installFrameworks } from '../../test/support/form-hosts.ts';
import {
  formActions,
  runCases,
  shippedScript,
  startFormServer,
} from '../../test/support/form-matrix.ts';

/**
 * `npm run form-matrix`: each host of the form element with each action, in Chromium, as a table.
 * `--form FILE` takes another script of the element, `--host TEXT` and `--action TEXT` some cases.
 */
const { values } = parseArgs({
  options: {
    form: { type: 'string' },
    host: { type: 'string', default: '' },
    action: { type: 'string', default: '' },
  },
});
const browser = await launchBrowser();
if (!browser) throw new Error(`The matrix needs a browser: ${missingBrowser}.`);
const hasFrameworks = await installFrameworks();
const { form } = values;
const server = await startFormServer(form ? () => readFile(form, 'utf8') : shippedScript);
const hosts = formHosts.filter(
  ({ name, needs }) => name.includes(values.host) && (hasFrameworks || !needs),
);
const actions = formActions.filter(({ name }) => name.includes(values.action));
const cases = hosts.flatMap((host) => actions.map((action) => ({ host, action })));
const results = new Map<string, string | undefined>();
await runCases(browser, server, cases, ({ host, action }, why) => {
  results.set(`${host.name}|${action.name}`, why);
  if (why) console.error(`${host.name}, ${action.name}: ${why}`);
});
await browser.close();
await server.stop();

const wrong = [...results].filter(([, why]) => why !== undefined);
console.log(`| host | ${actions.map((_, index) => index + 1).join(' | ')} |`);
console.log(`|---|${actions.map(() => '---').join('|')}|`);
for (const { name } of hosts) {
  const marks = actions.map((action) => (results.get(`${name}|${action.name}`) ? 'no' : 'yes'));
  console.log(`| ${name} | ${marks.join(' | ')} |`);
}
for (const [index, { name }] of actions.entries()) console.log(`${index + 1}: ${name}`);
console.log(`${results.size - wrong.length} of ${results.size} cases are right.`);
if (!hasFrameworks) console.log('Without the frameworks: the npm registry does not answer.');
