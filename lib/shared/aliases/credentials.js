// Lambda gives each function the credentials of its role as environment variables.
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
