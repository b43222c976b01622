/** Settings of an AWS client: an operator waits longer than a request may, but not for ever. */
export const patience = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};
