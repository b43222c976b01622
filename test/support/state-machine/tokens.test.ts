import { describe, expect, it } from '@jest/globals';
import type { Json } from './json.ts';
import { resolveTokens, tokenResolver } from './resolve-tokens.ts';

/** A name within a text, as CloudFormation writes it. */
const of = (name: string) => `\${${name}}`;

describe('a token', () => {
  it.each<[string, Json, Json]>([
    ['a reference', { Ref: 'Bucket1A2B' }, 'Bucket1A2B'],
    ['a pseudo parameter', { Ref: 'AWS::Partition' }, 'aws'],
    ['an attribute', { 'Fn::GetAtt': ['Function1A2B', 'Arn'] }, 'Function1A2B'],
    ['an attribute as a text', { 'Fn::GetAtt': 'Function1A2B.Arn' }, 'Function1A2B'],
    ['an import', { 'Fn::ImportValue': 'data:ExportTopic' }, 'data:ExportTopic'],
    ['the output of another stack', { 'Fn::GetStackOutput': { StackName: 'data', OutputName: 'Topic' } }, 'Topic'],
    ['joined parts', { 'Fn::Join': ['-', ['a', { Ref: 'B' }, { 'Fn::Join': ['', ['c', 'd']] }]] }, 'a-B-cd'],
    [
      'a text with names in it',
      { 'Fn::Sub': `at ${of('AWS::Region')}: ${of('F.Arn')} ${of('!literal')}` },
      `at eu-west-1: F ${of('literal')}`,
    ],
    ['a text with its own values', { 'Fn::Sub': [`${of('x')} ${of('F')}`, { x: { Ref: 'Y' } }] }, 'Y F'],
    ['values within others', { a: [{ Ref: 'B' }], Fn: 1, Ref: 'x', c: null }, { a: ['B'], Fn: 1, Ref: 'x', c: null }],
  ])('of %s becomes a name', (_, value, resolved) => {
    expect(tokenResolver()(value)).toEqual(resolved);
  });

  it('is resolved to its renamed value, except region and account', () => {
    const resolve = tokenResolver((name) => name.toLowerCase());
    expect(resolve({ 'Fn::Sub': `${of('AWS::AccountId')} ${of('Bucket1A2B')}` })).toBe('123456789012 bucket1a2b');
  });

  it('selects a part of a string, or the whole if it has no parts', () => {
    const part = (text: unknown) => ({ 'Fn::Select': [1, { 'Fn::Split': [':', text] }] }) as Json;
    expect(tokenResolver()([part('a:b'), part({ Ref: 'Machine' })])).toEqual(['b', 'Machine']);
  });

  it('with an unknown function is refused', () => {
    expect(() => tokenResolver()({ 'Fn::Cidr': ['a'] })).toThrow(/Fn::Cidr is not known/);
  });
});

describe('the definitions of a template', () => {
  const machine = (Properties: Record<string, unknown>) => ({ Type: 'AWS::StepFunctions::StateMachine', Properties });

  it('are found by logical id, with their tokens resolved', () => {
    const DefinitionString = { 'Fn::Join': ['', ['{"StartAt":"', { Ref: 'F' }, '"}']] };
    const Resources = { F: { Type: 'AWS::Lambda::Function' }, M: machine({ DefinitionString }) };
    expect(resolveTokens({ Resources })).toEqual({ M: { StartAt: 'F' } });
    expect(resolveTokens({ Resources }, () => 'handler')).toEqual({ M: { StartAt: 'handler' } });
  });

  it.each([
    ['in S3', { DefinitionS3Location: {} }, /no DefinitionString/],
    ['with substitutions', { DefinitionString: '{}', DefinitionSubstitutions: {} }, /DefinitionSubstitutions/],
  ])('are refused %s', (_, properties, message) => {
    expect(() => resolveTokens({ Resources: { M: machine(properties) } })).toThrow(message);
  });
});
