// Preloaded into the measured process (`--import`): writes what it used to a file when it ends.
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const { USAGE_FILE } = process.env;
if (USAGE_FILE && isMainThread) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeFileSync(
      USAGE_FILE,
      JSON.stringify({ cpu_seconds: (userCPUTime + systemCPUTime) / 1e6, peak_memory_mb: maxRSS / 1024 }),
    );
  });
}
