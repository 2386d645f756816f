/** What providers say of a request that is longer than the context of a model, each with its provider. */
export const tooLongTexts: ReadonlyArray<readonly [string, string]> = [
  [
    'OpenAI',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 128994 tokens (128242 in the messages, 752 in the functions). Please reduce the length of the messages or functions.",
  ],
  [
    'OpenAI',
    "This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10346 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
  ],
  ['OpenAI', 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
  [
    'Azure',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages.',
  ],
  ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'],
  [
    'Anthropic',
    'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000, decrease input length or `max_tokens` and try again',
  ],
  ['Claude on Vertex', 'Prompt is too long'],
  ['Claude on Bedrock', 'Input is too long for requested model.'],
  [
    'Bedrock',
    'The model returned the following errors: Input is too long for requested model. Please reduce the length of the prompt.',
  ],
  [
    'Bedrock',
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
  ],
  [
    'Titan on Bedrock',
    '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 8935',
  ],
  ['Mistral', 'Prompt contains 300000 tokens, too large for model with 131072 maximum context length'],
  ['Mistral', 'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length'],
  ['Groq', 'Please reduce the length of the messages or completion.'],
  [
    'Cerebras',
    'Please reduce the length of the messages or completion. Current length is 200000 while limit is 131072',
  ],
  [
    'DeepSeek',
    "This model's maximum context length is 1048576 tokens. However, you requested 1276733 tokens (892733 in the messages, 384000 in the completion). Please reduce the length of the messages or completion.",
  ],
  ['Moonshot', 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)'],
  ['Together', "The input (516368 tokens) is longer than the model's context length (262144 tokens)."],
  [
    'Together',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769. Given: 30512 `inputs` tokens and 8192 `max_new_tokens`',
  ],
  ['Fireworks', 'The prompt is too long: 140000, model maximum context length: 131071'],
  [
    'OpenRouter',
    'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 158000 tokens (150000 of text input, 8000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
  ],
  [
    'vLLM',
    "This model's maximum context length is 32768 tokens. However, you requested 41520 tokens (33328 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
  ],
  [
    'vLLM',
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 40960 tokens and your request has 20000 input tokens (32000 > 40960 - 20000).",
  ],
  [
    'vLLM',
    "You passed 5001 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens. Please reduce the length of the input prompt.",
  ],
  ['llama.cpp', 'the request exceeds the available context size, try increasing it'],
  ['llama.cpp', 'request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it'],
  [
    'LM Studio',
    'Trying to keep the first 10978 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
  ],
  [
    'LM Studio',
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10978 >= n_ctx: 8192). Try to load the model with a larger context length, or provide a shorter input.',
  ],
  ['LM Studio', 'Context size has been exceeded.'],
  ['Ollama', 'prompt too long; exceeded max context length by 4096 tokens'],
  ['Ollama', 'input length exceeds the context length'],
  ['TGI', 'Input validation error: `inputs` must have less than 4096 tokens. Given: 10000'],
  [
    'SGLang',
    "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.",
  ],
  ['SGLang', "The input (131393 tokens) is longer than the model's context length (131072 tokens)."],
  ['SGLang', 'Input length (131393 tokens) exceeds the maximum allowed length (131040 tokens). Use a shorter input.'],
  ['SGLang', 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.'],
  ['Gemini', 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
  ['Gemini', 'The input token count exceeds the maximum number of tokens allowed 1048576.'],
  ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  [
    'Cohere',
    'too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130210. Try using a shorter prompt, or enabling prompt truncating.',
  ],
  ['Cohere', 'too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.'],
  ['GitHub Copilot', 'prompt token count of 200000 exceeds the limit of 128000'],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)'],
  ['Z.ai', 'Prompt exceeds max length'],
  ['Zhipu', 'Prompt 超长'],
  ['DashScope', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 202745]'],
  ['Databricks', "The request exceeded the model's maximum context length."],
  [
    'Gemini on Vertex',
    'Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again.',
  ],
  [
    'Gemini on Vertex',
    'Unable to submit request because the input token count is 1223456 but the model only supports up to 1048576.',
  ],
  ['vLLM', 'The decoder prompt (length 2061) is longer than the maximum model length of 2048.'],
  ['watsonx', 'the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model'],
  ['llama-cpp-python', 'prompt tokens (5000) exceeds n_ctx (4096)'],
  ['a proxy', 'Your input exceeds the context window of this model (a limit per request, billed per hour).'],
  [
    'a proxy',
    "This model's maximum context length is 200000 tokens. Please shorten the messages, or request a quota increase.",
  ],
];
