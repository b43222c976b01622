const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes every escape; a `%` that begins none stays as it is, and bytes that are not UTF-8 become U+FFFD. */
export function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) =>
    lenientUtf8.decode(Buffer.from(escapes.replaceAll('%', ''), 'hex')),
  );
}
