/**
 * Runs after `npm ci`, with whatever Node is installed, so that the first `npm start` does not have to synthesize. It
 * never fails the installation: `npm start` synthesizes when needed and reports any error.
 */
import { nodeProblem, oldestNode } from './node-version.js';

if (nodeProblem() !== undefined) {
  console.log(
    `Skipped synthesizing the CDK templates: that needs Node ${oldestNode} or newer, and this is ${process.version}.`,
  );
} else {
  try {
    const { synthesize } = await import('./synthesize.ts');
    await synthesize(() => console.log('Synthesizing the CDK templates, so that "npm start" is quick ...'));
  } catch (error) {
    console.log(`Could not synthesize the CDK templates; "npm start" will try again. ${error.message.split('\n')[0]}`);
  }
}
