/** npm's codes for a registry that can't be reached. */
const unreachable =
  /\b(ENOTFOUND|EAI_AGAIN|EAI_FAIL|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;

/** Whether npm failed because neither the registry nor its cache had the packages. */
export function isOffline(error: unknown): boolean {
  return error instanceof Error && unreachable.test(error.message);
}
