// Preloaded into the measured process (`--import`): writes what it used to a file when it ends.
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { peakMemoryMegabytes } from '../measure.ts';

const { USAGE_FILE } = process.env;
if (USAGE_FILE && isMainThread) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeFileSync(
      USAGE_FILE,
      JSON.stringify({ cpu_seconds: (user + system) / 1e6, peak_memory_mb: peakMemoryMegabytes() }),
    );
  });
}
