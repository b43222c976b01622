/**
 * Frees the memory of bytes that nothing needs any more. The garbage collector sees only a small object where megabytes
 * hang on it, and so frees them late: a load would hold tens of megabytes more, and each file would be inflated into
 * fresh memory, which takes four times the CPU (decisions 0111 and 0113). Leaves small buffers alone, as they share theirs.
 */
export function releaseMemory(bytes: Buffer): void {
  if (bytes.buffer.byteLength > Buffer.poolSize) (bytes.buffer as ArrayBuffer).transfer(0);
}
