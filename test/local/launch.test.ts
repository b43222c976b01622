import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { folderForNow } from '../support/folder-for-now.ts';

/** Runs a program in this Node as if it were version `version`. */
async function runAs(version: string, ...args: string[]) {
  const versions = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`;
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(versions)}`];
  return promisify(execFile)(process.execPath, [...preload, ...args]).then(
    ({ stdout, stderr }) => ({ exit: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ exit: code, out: stdout, err: stderr }),
  );
}

describe('an entry point under a Node version that is too old', () => {
  it.each([
    ['the launcher of commands and programs', ['local/launch.js', 'plan', 'list']],
    ['the tests', ['node_modules/jest/bin/jest.js', 'test/operator/cli/command.test.ts']],
  ])('says which Node it needs and how to get it: %s', async (_, args) => {
    const { exit, out, err } = await runAs('22.6.0', ...args);
    expect([exit, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^This needs Node 24 or newer; this is Node 22\.6\.0\. .*nvm install 24.*nodejs\.org\S+\n$/,
    );
  });
});

const folder = folderForNow('bag-adres-launch-');

describe('the launcher', () => {
  it('passes the arguments and the exit code on', async () => {
    expect(await runAs('24.0.0', 'local/launch.js', 'plan', 'lst')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('Did you mean list?'),
    });
    expect((await runAs('24.0.0', 'local/launch.js', 'smoke', '--help')).out).toContain(
      'bag-adres smoke',
    );
  });

  it('starts what imports node:http without undici', async () => {
    const entry = join(folder, 'entry.ts');
    const imported = ['local/service.ts', 'local/dataset.ts', 'local/functions.ts'];
    writeFileSync(
      entry,
      `for (const file of ${JSON.stringify(imported.map((file) => resolve(file)))}) await import(file);
      console.log(process.moduleLoadList.filter((name) => name.includes('undici')));`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, ['local/launch.js', entry]);
    expect(stdout).toBe('[]\n');
  });

  it('has later starts find the sources compiled, in the folder that the user names or else in ours', async () => {
    const script = `import module from 'node:module';
      import { keepCompiledCode } from './local/compile-cache.js';
      keepCompiledCode();
      console.log(process.env.NODE_COMPILE_CACHE + '\\n' + module.getCompileCacheDir());`;
    const folders = async (variables: NodeJS.ProcessEnv) => {
      const { NODE_COMPILE_CACHE: _inherited, ...env } = process.env;
      const args = ['--input-type=module', '--eval', script];
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        env: { ...env, ...variables },
      });
      return stdout.trim().split('\n');
    };
    const ours = resolve('node_modules/.cache/compile');
    expect(await folders({})).toEqual([ours, expect.stringContaining(`${ours}/`)]);
    const [, used] = await folders({ NODE_COMPILE_CACHE: '/dev/null/none' });
    expect(used).toBe('undefined');
  });

  it('runs every TypeScript entry of the scripts and the documentation', () => {
    const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    const { scripts } = json('package.json');
    const texts = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md')].map((file) =>
      readFileSync(file, 'utf8'),
    );
    const packageScripts = Object.values<string>(json('packages/admin/package.json').scripts);
    const commands = [
      ...Object.values<string>(scripts),
      ...packageScripts,
      json('cdk.json').app,
      ...texts,
    ];
    const direct = commands.flatMap(
      (text) => text.match(/\bnode (?:--\S+ )*[\w./-]+\.ts\b/g) ?? [],
    );
    expect(direct).toEqual([]);
    expect(scripts['bag-adres']).toBe('node local/launch.js bin/bag-adres.ts');
  });
});
