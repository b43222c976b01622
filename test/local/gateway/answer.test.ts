import { describe, expect, it } from '@jest/globals';
import { integrationAnswer } from '../../../local/gateway/answer.ts';

const answerTo = (returned: unknown) => {
  const { statusCode, headers, body } = integrationAnswer(JSON.stringify(returned) ?? 'null');
  return { statusCode, headers, body: body.toString() };
};

describe('the response made from the return value of a function', () => {
  it('is the response that it describes', () => {
    expect(
      answerTo({
        statusCode: 201,
        headers: { 'content-type': 'application/json', 'x-count': 3, 'content-length': '999', Connection: 'close' },
        cookies: ['a=1', 'b=2'],
        body: '{}',
      }),
    ).toEqual({
      statusCode: 201,
      headers: [
        ['content-type', 'application/json'],
        ['x-count', '3'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ],
      body: '{}',
    });
  });

  it('decodes a base64 body', () => {
    expect(answerTo({ statusCode: 200, body: 'w6k=', isBase64Encoded: true }).body).toBe('é');
  });

  it('is plain text when no content type was given', () => {
    expect(answerTo({ statusCode: 200, body: 'x' }).headers).toEqual([['Content-Type', 'text/plain; charset=utf-8']]);
  });

  it.each<[unknown, string]>([
    ['Hello', 'Hello'],
    [{ message: 'Hello' }, '{"message":"Hello"}'],
    [[1], '[1]'],
    [null, 'null'],
    [undefined, 'null'],
  ])('is a 200 with the value itself where it has no status: %j', (returned, body) => {
    expect(answerTo(returned)).toEqual({ statusCode: 200, headers: [['Content-Type', 'application/json']], body });
  });

  it.each<[string, unknown]>([
    ['a status that is text', { statusCode: '200' }],
    ['a status that HTTP has not', { statusCode: 99 }],
    ['a body that is an object', { statusCode: 200, body: {} }],
    ['a header that is an object', { statusCode: 200, headers: { a: {} } }],
    ['a header value with a line end', { statusCode: 200, headers: { a: 'b\r\nc: d' } }],
    ['a header name with a space', { statusCode: 200, headers: { 'a b': 'c' } }],
    ['cookies that are no list', { statusCode: 200, cookies: 'a=1' }],
  ])("is the gateway's 500 for %s", (_what, returned) => {
    expect(answerTo(returned)).toEqual({
      statusCode: 500,
      headers: [['Content-Type', 'application/json']],
      body: '{"message":"Internal Server Error"}',
    });
  });
});
