/**
 * Runs after `npm ci`, in whatever Node that found, so that the first `npm start` need not synthesize. It never makes
 * the installation fail: `npm start` synthesizes what is missing, and says what is wrong then.
 */
import { nodeProblem, oldestNode } from './node-version.js';

if (nodeProblem() !== undefined) {
  console.log(
    `Templates are not synthesized yet: that takes Node ${oldestNode} or newer, and this is ${process.version}.`,
  );
} else {
  try {
    const { synthesize } = await import('./synthesize.ts');
    await synthesize(() => console.log('Synthesizing the templates, so that "npm start" is quick ...'));
  } catch (error) {
    console.log(`Templates are not synthesized yet; "npm start" will try again. ${error.message.split('\n')[0]}`);
  }
}
