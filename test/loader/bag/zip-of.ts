import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A zip of these files, in this order. */
export function zipOf(files: Record<string, string | Buffer>, compress = true): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, contents] of Object.entries(files)) {
    zip.addBuffer(Buffer.from(contents), name, { compress });
  }
  zip.end();
  return buffer(zip.outputStream);
}
