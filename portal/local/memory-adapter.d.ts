declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterFactory } from 'oidc-provider';

  /** Keeps the state of a provider in the memory of this process. */
  export function createMemoryAdapter(): AdapterFactory;
}
