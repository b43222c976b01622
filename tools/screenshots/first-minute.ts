import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { start } from '../../test/support/start.ts';

/**
 * Takes a picture of a terminal with what a newcomer sees: a start on an empty folder, and the
 * answers to the first and the last lookup that it prints.
 */
export async function takeFirstMinute(browser: Browser, out: string): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'first-minute-'));
  const service = start(['--data', data, '--port', '0'], { line: 'npm start' });
  try {
    const printed = (await service.until('Customer portal: ')).replace(/^\s*> .*\n/gm, '').trim();
    const lookups = [...printed.matchAll(/curl .*/g)].map(([command]) => command);
    const answers: string[] = [];
    for (const command of [lookups.at(0) ?? '', lookups.at(-1) ?? '']) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent`]);
      answers.push(`$ ${command}`, stdout, '');
    }
    // The folder and the ports of a start without options, and no key.
    const [, port = '', portal = ''] = /:(\d+).*portal: \S+:(\d+)/s.exec(printed) ?? [];
    const text = ['$ npm start', '', printed, '', ...answers]
      .join('\n')
      .replaceAll(` --data ${data}`, '')
      .replaceAll(data, '.data')
      .replaceAll(`:${port}`, ':3000')
      .replaceAll(`:${portal}`, ':3001')
      .replaceAll(/bagadres_demo_\w+/g, 'bagadres_demo_...');
    const page = await browser.newPage({ viewport: { width: 1000, height: 200 } });
    await page.setContent('<body style="margin:0"><pre></pre>');
    await page.locator('pre').evaluate((terminal, shown) => {
      terminal.textContent = shown;
      const look =
        'margin:0;padding:20px;background:#1d1f21;color:#d5d8d6;font:13px/1.45 monospace';
      terminal.setAttribute('style', `${look};white-space:pre-wrap;overflow-wrap:anywhere`);
    }, text);
    await page.screenshot({ path: join(out, 'first-minute.png'), fullPage: true });
    await page.close();
  } finally {
    service.child.kill('SIGINT');
    await service.ended;
    await rm(data, { recursive: true });
  }
}
