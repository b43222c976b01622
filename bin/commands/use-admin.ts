import type { Admin } from '../../lambdas/shared/admin/admin.ts';
import { printResult, type Result } from '../output/print-result.ts';
import { UsageError } from './command-error.ts';
import type { ConnectionOptions } from './connection-options.ts';
import type { Terminal } from './terminal.ts';

/** Opens the admin module where `options` say, prints the result of `work`, and closes it whatever happens. */
export async function useAdmin(
  terminal: Terminal,
  options: ConnectionOptions,
  work: (admin: Admin) => Promise<Result>,
): Promise<void> {
  if (options.data !== undefined && !options.local) throw new UsageError('--data says which --local run; add --local.');
  // Loaded here, since the AWS clients take longer to load than `--help` may take.
  const { openAdmin } = await import('../connect/open-admin.ts');
  const { admin, close } = await openAdmin(options, terminal.env);
  try {
    printResult(terminal, options, await work(admin));
  } finally {
    close();
  }
}
