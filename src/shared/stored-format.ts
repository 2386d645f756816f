/**
 * The number of the format in which this release stores data: events, tables, collections and records. It rises with every
 * new type of event and every new stored shape, once in a release, so that an older release does not start on data that it
 * does not know (ADR 75). `test/fixtures/stored-shapes.json` has the shapes of this number, and a test compares them.
 */
export const storedFormat = 5;
