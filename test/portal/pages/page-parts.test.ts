import { describe, expect, it } from '@jest/globals';
import { conflictPage, invalidPage, notFoundPage } from '../../../portal/pages/page-parts.ts';
import { texts } from '../../../portal/text/portal-texts.ts';

describe('a page about a fault', () => {
  const { en: text } = texts;
  const back = '/accounts/shop';
  const body = (explanation: string, onward: string) =>
    `<div class="card"><p>${explanation}</p><p><a href="${back}">${onward}</a></p></div>`;

  it.each([
    [
      'an address that does not exist',
      notFoundPage(text, back),
      [404, 'This page does not exist'],
      body('Check the address, or start again at the home page.', 'Go back'),
    ],
    [
      'a thing that does not exist',
      notFoundPage(text, back, 'No such key'),
      [404, 'No such key'],
      body('Check the address, or start again at the home page.', 'Go back'),
    ],
    [
      'a form with an error',
      invalidPage(text, back, 'A label has 1 to 64 characters.'),
      [422, 'The form has an error'],
      body('A label has 1 to 64 characters.', 'Go back'),
    ],
    [
      'a change by somebody else',
      conflictPage(text, back),
      [409, 'Someone else has changed this'],
      body(
        'Your change was not saved. Check the current values, then decide again.',
        text.showCurrent,
      ),
    ],
  ])('has its title, explains it, and leads on: %s', async (_, page, heading, expected) => {
    expect([page.status, page.title]).toEqual(heading);
    expect(String(await page.body)).toBe(expected);
  });
});
