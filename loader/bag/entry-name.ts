/** Whether an entry is metadata that macOS adds to a zip: `__MACOSX/.../._9999NUM.xml` is binary despite its name. */
export function isJunk(name: string): boolean {
  return name.startsWith('__MACOSX/') || baseName(name).startsWith('.');
}

/** The name of an entry without its folders. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
