/** A Lambda function as the template describes it, its values resolved. */
export interface FunctionSettings {
  readonly name: string;
  /** The absolute path of the module that exports the handler. */
  readonly module: string;
  /** The name of the export. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMilliseconds: number;
  readonly memoryMegabytes: number;
}
