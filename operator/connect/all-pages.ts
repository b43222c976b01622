/** Reads a list of the admin module to its end. */
export async function allPages<Page extends { cursor: string | null }, T>(
  read: (options: { cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => T[],
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await read(cursor === null ? {} : { cursor });
    items.push(...itemsOf(page));
    cursor = page.cursor;
  } while (cursor !== null);
  return items;
}
