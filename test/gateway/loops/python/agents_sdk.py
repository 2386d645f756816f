"""Loops of the Agents SDK. Prints what each of the conversations in CONVERSATIONS ends with."""

import asyncio
import json
import os

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from openai.types.shared import Reasoning

set_tracing_disabled(True)
client = AsyncOpenAI(base_url=os.environ["URL"] + "/v1", api_key=os.environ["KEY"], max_retries=0)


@function_tool
def opening_hours(day: str) -> str:
    """When it is open on a day"""
    return f"{day} 9-17"


async def converse(protocol: str, model: str, streamed: bool) -> list[str]:
    models = {"chat": OpenAIChatCompletionsModel, "Responses": OpenAIResponsesModel}
    agent = Agent(
        name="Desk",
        instructions="Be brief.",
        tools=[opening_hours],
        model=models[protocol](model=model, openai_client=client),
        model_settings=ModelSettings(reasoning=Reasoning(effort="low")),
    )
    history, answers = [], []
    for question in json.loads(os.environ["QUESTIONS"]):
        asked = [*history, {"role": "user", "content": question}]
        if streamed:
            result = Runner.run_streamed(agent, asked)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, asked)
        history = result.to_input_list()
        answers.append(str(result.final_output))
    return answers


async def main() -> None:
    outcomes = []
    for conversation in json.loads(os.environ["CONVERSATIONS"]):
        try:
            outcomes.append(await converse(**conversation))
        except Exception as error:
            outcomes.append([str(error)])
    print(json.dumps(outcomes))


asyncio.run(main())
