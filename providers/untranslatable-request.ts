/** A request that this provider cannot be asked. The message is for the caller: it never quotes the request. */
export class UntranslatableRequest extends Error {
  override readonly name = 'UntranslatableRequest';
  /** The exact place, such as `request.messages[2].content[0]`. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
