/** Whether an error is that of a full disk, of Node's own or in the words of the embedded engine. */
export function isDiskFull(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || /disk is full|No space left on device/i.test(message);
}
