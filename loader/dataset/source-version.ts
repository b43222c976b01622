/** Which copy of an extract a source held: enough to ask "has it changed?" without reading it. Plain JSON. */
export type SourceVersion = {
  /** A URL, `s3://bucket/key`, or the path of a file. */
  location: string;
  size: number | null;
  etag: string | null;
  lastModified: string | null;
};
