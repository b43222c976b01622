import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from 'node:crypto';

/**
 * SHA-256, or its HMAC with a secret, for the SDK's signatures. Other than the SDK's own it hands Node each key as a key
 * object: given bytes, Node throws and catches two errors to find out that they are none (decision 0097).
 */
export class Sha256 {
  readonly #key: Parameters<typeof createHmac>[1] | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#key = secret === undefined || typeof secret === 'string' ? secret : createSecretKey(bytesOf(secret));
    this.#hash = this.#begin();
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#key === undefined ? createHash('sha256') : createHmac('sha256', this.#key);
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
