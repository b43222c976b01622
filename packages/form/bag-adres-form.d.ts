declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface extends HTML's types.
  interface HTMLElementTagNameMap {
    'bag-adres-form': HTMLElement & { texts: Record<string, string> };
  }
}

export {};
