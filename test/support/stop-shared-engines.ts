export { stopEngines as default } from './shared-engines.ts';
