import { existsSync, readFileSync } from 'node:fs';

/** CPU milliseconds of this process, user and system, all threads. */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds of one of `count` calls, one after the other. */
export async function cpuOf(call: () => unknown, count = 1): Promise<number> {
  const before = cpuMilliseconds();
  for (let i = 0; i < count; i++) await call();
  return (cpuMilliseconds() - before) / count;
}

/**
 * The most memory that this process has had, in MB. On Linux not `maxRSS`: that begins with what
 * the process which started this one had.
 */
export function peakMemoryMegabytes(): number {
  const file = '/proc/self/status';
  const [, kilobytes] =
    /^VmHWM:\s+(\d+)/m.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? [];
  return Number(kilobytes ?? process.resourceUsage().maxRSS) / 1024;
}

/**
 * What another process has used, with all its threads: CPU milliseconds, those of its children that
 * have ended, and its memory now in MB. Linux counts CPU in hundredths of a second.
 */
export function processStat(pid: number | string) {
  const file = `/proc/${pid}/stat`;
  if (!existsSync('/proc/self/stat')) {
    throw new Error(
      'This benchmark reads the CPU of other processes from /proc, which only Linux has.',
    );
  }
  const stat = readFileSync(file, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const sum = (...at: number[]) => at.reduce((total, index) => total + Number(fields[index]), 0);
  return {
    parent: sum(1),
    cpuMilliseconds: sum(11, 12) * 10,
    endedCpuMilliseconds: sum(13, 14) * 10,
    memoryMegabytes: (sum(21) * 4096) / 2 ** 20,
  };
}

/** The middle value; of an even count the lower middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/**
 * Runs the contenders in turn, A B A B ..., so that a machine that drifts in speed treats them
 * alike.
 */
export async function inTurn<Name extends string>(
  rounds: number,
  contenders: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number[]>> {
  const results = Object.fromEntries(
    Object.keys(contenders).map((name) => [name, []]),
  ) as unknown as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(contenders) as Name[]) {
      results[name].push(await contenders[name]());
    }
  }
  return results;
}

/** The ratios of two contenders pair by pair, and of these the median. */
export function pairedRatio(values: readonly number[], reference: readonly number[]): number {
  return median(values.map((value, index) => value / (reference[index] ?? Number.NaN)));
}

/** To so many digits that count. */
export function rounded(value: number, digits = 4): number {
  return Number(value.toPrecision(digits));
}
