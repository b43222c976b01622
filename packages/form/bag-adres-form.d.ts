declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds to what TypeScript knows of HTML.
  interface HTMLElementTagNameMap {
    'bag-adres-form': HTMLElement & { set texts(own: Record<string, string>) };
  }
}

export {};
