import module from 'node:module';
import { join } from 'node:path';

/**
 * Has this process and those that it starts keep what they compile: without that, each start strips
 * the types of every source and compiles it again, which is a third of its time. A folder that
 * can't be written is ignored.
 */
export function keepCompiledCode() {
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compile');
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
}
