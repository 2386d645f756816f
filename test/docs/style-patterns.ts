/** A construction that this project does not use, and what to write instead. */
export interface StylePattern {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
  /** Sentences that have it. */
  readonly matches: readonly [string, string];
  /** Sentences that look like it and are fine. */
  readonly allows: readonly [string, string];
  /** Messages of the API stay as they are; in exchange the comments of tests and benchmarks must not have it. */
  readonly isForCommentsAlone?: boolean;
}

const machine =
  '(?:server|store|service|node|provider|queue|thread|process|disk|socket|database|machine|system|projector|writer|gateway|pipeline|engine)';

export const stylePatterns: ReadonlyArray<StylePattern> = [
  {
    name: 'so many, for a limit that has a name',
    pattern: /\bso (?:many|much)\b(?! (?:\w+ )?that\b)/i,
    instead: 'name the limit, or write "a number of"',
    matches: ['Waits so many milliseconds.', 'After so much time it ends.'],
    allows: ['There are so many that it stops.', 'The limit of many documents.'],
  },
  {
    name: 'so long, for a time that has a name',
    pattern: /\bso long\b(?! (?:as|that)\b)/i,
    instead: 'name the time, or write "for this long"',
    matches: ['An upload that began so long ago has ended.', 'Waits so long at least.'],
    allows: ['It runs so long as it is open.', 'The text is so long that it is cut.'],
  },
  {
    name: 'for ever',
    pattern: /\bfor ever\b/i,
    instead: 'write "permanently" or "without a limit"',
    matches: ['The stream is closed for ever.', 'It waits for ever.'],
    allows: ['It waits forever.', 'For every stream there is one.'],
  },
  {
    name: 'is no X',
    pattern:
      /(?<!\bthere |\bthere\n)\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|other\b|later\b|older\b|newer\b|greater\b|smaller\b|larger\b)[a-z]+/i,
    instead: 'write "is not a …"',
    matches: ['The body is no form.', 'These are no flows.'],
    allows: ['There is no form.', 'It is no longer valid.'],
  },
  {
    name: 'a thing that is asked',
    pattern: new RegExp(
      `\\b${machine}s? (?:is|are|was|were|may be|must be) (?:not )?(?:asked|handed|informed)\\b(?! for\\b)`,
      'i',
    ),
    instead: 'write what is sent: "the request goes to the server"',
    matches: ['The store is asked again.', 'A node is handed its number.'],
    allows: ['The admin is asked for a key.', 'The server is stopped.'],
  },
  {
    name: 'a thing that wants',
    pattern: new RegExp(`\\b${machine}s? (?:wants?|likes|wishes|thinks?|believes?|meets?|hopes?)\\b`, 'i'),
    instead: 'write what it needs, sends or computes',
    matches: ['The provider wants a key.', 'The process meets a stream.'],
    allows: ['The process needs a key.', 'The team wants a page.'],
  },
  {
    name: 'taken, for accepted',
    pattern:
      /\b(?:body|bodies|values?|headers?|parameters?|media types?|names?|texts?|members?|fields?|options?|parts?) (?:that )?(?:is|are) (?:not )?taken\b(?! (?:over|from|into|out|as|by|in)\b)/i,
    instead: 'write "accepted" or "allowed"',
    matches: ['The media type is not taken.', 'The values that are taken.'],
    allows: ['The value is taken from the header.', 'The name is taken over.'],
  },
  {
    name: 'the most that is, for a limit',
    pattern: /\bthe most that (?:is|are|it|they)\b/i,
    instead: 'name the limit',
    matches: ['It has 5 values, the most that are allowed.', 'This is the most that it holds.'],
    allows: ['At most 5 values are allowed.', 'Most values are allowed.'],
  },
  {
    name: 'the most X, for a limit',
    pattern: /^The (?:most|longest|shortest|least) (?!advanced\b|recent|severe\b|first\b)/,
    instead: 'write "Maximum …" or "Minimum …"',
    matches: ['The most bytes of a body.', 'The longest wait of a call.'],
    allows: ['The longest first, then the others.', 'A call gets the longest text.'],
    isForCommentsAlone: true,
  },
  {
    name: 'at once',
    pattern: /\bat once\b/i,
    instead: 'write "immediately" or "at the same time"',
    matches: ['It ends at once.', 'Calls that run at once.'],
    allows: ['It is sent at most once.', 'A name with all-at-once.md in it.'],
    isForCommentsAlone: true,
  },
  {
    name: 'away, for unavailable',
    pattern: /\b(?:is|was|are|were|be|been|being|stays?|stayed) away\b/i,
    instead: 'write "unavailable"',
    matches: ['The store is away.', 'While a server was away.'],
    allows: ['It takes the claim away.', 'The server is unavailable.'],
  },
  {
    name: 'back, for recovered',
    pattern: new RegExp(`\\b${machine}s? (?:is|was|are|were|comes?|came) back\\b`, 'i'),
    instead: 'write "available again" or "has recovered"',
    matches: ['Until the server is back.', 'The store comes back.'],
    allows: ['It gives the server back.', 'The value that comes back.'],
  },
  {
    name: 'a comment that restates the type',
    pattern: /\b(?:null|undefined|empty) if there (?:is|are|was|were) none\b/i,
    instead: 'say what its absence means, or nothing',
    matches: ['Null if there is none.', 'The key; undefined if there is none.'],
    allows: ['Null without a key.', 'There is none.'],
  },
  {
    name: 'as it likes',
    pattern: /\bas (?:it|they|he|one) (?:likes?|pleases?|wishes)\b/i,
    instead: 'write "any"',
    matches: ['It has names as it likes.', 'Callers group as they please.'],
    allows: ['It looks as it should.', 'As they are.'],
  },
  {
    name: 'what it throws is thrown',
    pattern: /\bwhat (?:it|they|this) (\w+?)(?:s|es)? (?:is|are) \1(?:n|en|ed|d)\b/i,
    instead: 'say what happens: "its errors are thrown again"',
    matches: ['What it throws is thrown.', 'What they return is returned.'],
    allows: ['What it throws is logged.', 'What is thrown.'],
  },
  {
    name: 'beside, for next to',
    pattern: /\bbesides?\b/i,
    instead: 'write "next to", "with" or "in addition to"',
    matches: ['The key is beside the data.', 'The media types besides JSON.'],
    allows: ['The key is next to the data.', 'On this side.'],
  },
  {
    name: 'an archaic word',
    pattern: /\b(?:thereof|herein|whereby|whence|thence|henceforth|lest|thereby|thereupon|wherein|hitherto)\b/i,
    instead: 'use a plain word',
    matches: ['The store and the parts thereof.', 'It waits lest it fails.'],
    allows: ['There is one of them.', 'The latest.'],
  },
  {
    name: 'an inverted condition',
    pattern: /(?:^|[.;:,] )(?:Had|Were|Should) (?:it|the|a|they|this) \w+/,
    instead: 'write "if"',
    matches: ['Should the server fail, it waits.', 'Were it known, it would end.'],
    allows: ['It should end.', 'They were sent.'],
  },
  {
    name: 'a page that has it',
    pattern: /\bas (?:RFC \d+|the \w+|OpenAI|Node|SQLite) (?:has|wants|would have) it\b/i,
    instead: 'write "as … requires"',
    matches: ['A form as RFC 7578 has it.', 'As the contract wants it.'],
    allows: ['As RFC 7578 requires.', 'The contract has it.'],
  },
];
