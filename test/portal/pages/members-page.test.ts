import { afterAll, expect, it } from '@jest/globals';
import { startPortalPages } from '../../support/portal-pages.ts';

const { service, admin, newAccount } = await startPortalPages();
afterAll(() => service.stop());

it('a member is added, named in the question about the removal, and removed, each with its note', async () => {
  const at = `/accounts/${await newAccount()}/members`;
  const person = 'new@own.nl';
  const noteAfter = async (path: string, form: Record<string, string>) => {
    const { location } = await admin.post(path, form);
    return /role="status">([^<]*)/.exec((await admin.get(location ?? '')).body)?.[1];
  };
  expect(await noteAfter(at, { person, role: 'viewer' })).toBe('The member is saved.');
  const { body } = await admin.get(`${at}/member?person=${encodeURIComponent(person)}`);
  expect(body).toContain(`<h2>Remove ${person}?</h2>`);
  expect(await noteAfter(at, { person, role: 'finance' })).toBe('The member is saved.');
  expect(await noteAfter(`${at}/remove`, { person })).toBe('The member is removed.');
  expect((await admin.get(at)).body).not.toContain(person);
});
