/** Fills `into` with what comes next in a file, and says how many bytes that are: 0 at the end of it, and only there. */
export type ReadBytes = (into: Buffer) => number;

/** A file that can be read through more than once: each call begins at its start. */
export type ByteFile = () => ReadBytes;

/** The file of bytes that are in memory already; they come at most `most` at a time. */
export function heldFile(bytes: Buffer, most = bytes.length): ByteFile {
  return () => {
    let position = 0;
    return (into) => {
      const count = bytes.copy(into, 0, position, position + most);
      position += count;
      return count;
    };
  };
}
