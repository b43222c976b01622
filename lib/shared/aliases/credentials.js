import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Lambda gives each function the credentials of its role as environment variables. They are read
 * once, as by the SDK's own chain, which this replaces; `fromEnv` by itself reads them for every
 * call.
 */
export const defaultProvider = (init) => {
  let credentials;
  return () => {
    credentials ??= fromEnv(init)();
    return credentials;
  };
};
