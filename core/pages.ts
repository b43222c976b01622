/** The pages of a list, in order. Each has the cursor of the next page; the last has none. */
export async function* pagesOf<Page extends { cursor: string | null }>(
  read: (at: { cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  let page = await read({});
  yield page;
  while (page.cursor !== null) {
    page = await read({ cursor: page.cursor });
    yield page;
  }
}

/** Reads a list to its end. */
export async function allPages<Page extends { cursor: string | null }, T>(
  read: (at: { cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly T[],
): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pagesOf(read)) items.push(...itemsOf(page));
  return items;
}
