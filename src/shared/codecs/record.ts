import * as t from 'io-ts';

/** Each member has its codec and the value that the documentation shows. */
export type RecordMembers<Members extends t.Props> = {
  readonly [Name in keyof Members]: readonly [codec: Members[Name], example: t.TypeOf<Members[Name]>];
};

interface WithExample<Members extends t.Props> {
  /** The example for the documentation, without the members that may be absent. */
  readonly example: t.TypeOf<t.TypeC<Members>>;
}

export type RecordCodec<Members extends t.Props> = t.TypeC<Members> & WithExample<Members>;

export type PartialRecordCodec<Members extends t.Props, Optional extends t.Props> = t.IntersectionC<
  [t.TypeC<Members>, t.PartialC<Optional>]
> &
  WithExample<Members>;

/**
 * A record of the API has one description: its codec, from which type and schema come, and its example.
 * @param name in PascalCase: the documentation lists the schema under it
 * @param optional the members that may be absent, which the example does not have
 */
export function record<Members extends t.Props>(name: string, members: RecordMembers<Members>): RecordCodec<Members>;
export function record<Members extends t.Props, Optional extends t.Props>(
  name: string,
  members: RecordMembers<Members>,
  optional: Optional,
): PartialRecordCodec<Members, Optional>;
export function record(name: string, members: RecordMembers<t.Props>, optional?: t.Props): unknown {
  const codecs = mapMembers(members, ([codec]) => codec);
  const example = mapMembers(members, ([, value]) => value);
  const codec =
    optional === undefined ? t.type(codecs, name) : t.intersection([t.type(codecs), t.partial(optional)], name);
  return Object.assign(codec, { example });
}

export function recordMembers<Members extends t.Props>(members: RecordMembers<Members>): RecordMembers<Members> {
  return members;
}

function mapMembers<Value>(
  members: RecordMembers<t.Props>,
  toValue: (member: readonly [codec: t.Mixed, example: unknown]) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, toValue(member)]));
}
