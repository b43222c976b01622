/**
 * Frees the memory of a buffer that is no longer needed. The garbage collector sees only a small
 * object that refers to megabytes, and frees them late: a load would hold tens of megabytes more,
 * and each file would be inflated into new memory, which takes four times the CPU (decisions 0110
 * and 0113). Ignores buffers that share Node's pool, which have less than half of its length.
 */
export function releaseMemory(bytes: Buffer): void {
  const { byteLength } = bytes.buffer;
  if (2 * byteLength >= Buffer.poolSize && byteLength !== Buffer.poolSize) {
    (bytes.buffer as ArrayBuffer).transfer(0);
  }
}
