/** Bytes that are written one after the other into one piece of memory, which doubles when it is full. */
export class GrowingBytes {
  memory: Buffer = Buffer.allocUnsafeSlow(4_096);
  length = 0;

  /** Makes room for so many more bytes, to be written to `memory` at `length`. */
  reserve(count: number): void {
    const least = this.length + count;
    if (least <= this.memory.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.memory.length, least));
    this.memory.copy(larger, 0, 0, this.length);
    this.memory = larger;
  }

  write(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    this.reserve(Buffer.byteLength(text, encoding));
    this.length += this.memory.write(text, this.length, encoding);
  }

  /** What was written. */
  get bytes(): Buffer {
    return this.memory.subarray(0, this.length);
  }
}
