/** npm runs us in the root of the project; a relative path is one of the folder that npm was run in. */
export function callersFolder(): string {
  return process.env.INIT_CWD ?? process.cwd();
}
