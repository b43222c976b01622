import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rowsFor, runSmoke } from '../../../operator/checks/run-smoke.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { type Judge, npmPackages } from '../judge.ts';
import { withBothDocuments } from '../with-service.ts';

/** Checks that Prism can't pass on, each with the reason. */
const impossible: Readonly<Record<string, string>> = {
  'refuses any other key with the same 401, before the input':
    'it adds a header where there is no key',
  'returns 405 with Allow: GET for any other method':
    'it parses the empty body of a HEAD as JSON, and returns 500',
  'refuses a body over 64 KB': 'it never passes on a body that it refuses to parse',
  'refuses a body that is not JSON': 'it never passes on a body that it refuses to parse',
};

/** In the demo data and in Weesp. */
const lettered = { postcode: '1381AA', huisnummer: 9, toevoeging: 'a' };

type Violation = { location: string[]; message: string };

/**
 * A proxy that holds each request and response to the document, under the smoke test, with objects
 * too.
 */
export const proxy: Judge = {
  description:
    'Prism, a validating proxy: requests of the smoke test and the responses of `npm start`',
  needs: [['npm', '--version']],
  async judge() {
    const packages = await npmPackages('proxy/package-lock.json');
    return withBothDocuments(async ({ origin, key, folder }) => {
      const document = JSON.parse(await (await fetch(`${origin}/v1/openapi.json`)).text());
      // Prism matches the whole path with those of the document, without the path of its server.
      const paths = Object.entries(document.paths).map(([path, operations]) => [
        `/v1${path}`,
        operations,
      ]);
      const file = join(folder, 'document.json');
      writeFileSync(
        file,
        JSON.stringify({ ...document, servers: undefined, paths: Object.fromEntries(paths) }),
      );
      const port = `${await freePort()}`;
      const program = join(packages, 'node_modules/@stoplight/prism-cli/dist/index.js');
      const child = spawn(process.execPath, [
        program,
        'proxy',
        '--port',
        port,
        '--cors',
        'false',
        file,
        origin,
      ]);
      try {
        for await (const text of child.stdout
          .setEncoding('utf8')
          .iterator({ destroyOnReturn: false })) {
          if (text.includes('is listening')) break;
        }
        child.stdout.resume();
        const findings: string[] = [];
        let refused = 0;
        const options = { key, address: lettered };
        const rows = rowsFor(options).filter(({ title }) => !(title in impossible));
        const { results, answers } = await runSmoke(`http://127.0.0.1:${port}`, options, rows);
        // Each is what the document says, and a success also to a request as the document says.
        for (const { asked, status, headers } of answers) {
          const found: Violation[] = JSON.parse(headers['sl-violations'] ?? '[]');
          if (found.length > 0) refused++;
          for (const { location, message } of found) {
            if (status === 200 || location[0] !== 'request') {
              findings.push(`${asked} returns ${status}: ${location.join('.')}: ${message}`);
            }
          }
        }
        for (const { title, state, reason } of results) {
          if (state !== 'passed') findings.push(`${title}: ${reason}`);
        }
        return {
          findings,
          detail: `${answers.length} requests, of which it refuses ${refused}, as the service does`,
        };
      } finally {
        child.kill();
        await once(child, 'exit');
      }
    });
  },
};
