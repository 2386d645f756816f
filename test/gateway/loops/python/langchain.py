"""Loops of LangChain. Prints what each of the conversations in CONVERSATIONS ends with."""

import json
import os

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

url, key = os.environ["URL"], os.environ["KEY"]


@tool
def opening_hours(day: str) -> str:
    """When it is open on a day"""
    return f"{day} 9-17"


def model_of(protocol: str, model: str):
    if protocol == "Messages":
        thinking = {"type": "enabled", "budget_tokens": 1_024}
        return ChatAnthropic(
            model=model, base_url=url, api_key=key, max_tokens=4_096, thinking=thinking, max_retries=0
        )
    common = {"model": model, "base_url": url + "/v1", "api_key": key, "max_retries": 0}
    if protocol == "Responses":
        return ChatOpenAI(**common, use_responses_api=True, reasoning={"effort": "low"})
    return ChatOpenAI(**common, use_responses_api=False, reasoning_effort="low")


def answer_of(model, conversation: list, streamed: bool):
    if not streamed:
        return model.invoke(conversation)
    answer = None
    for chunk in model.stream(conversation):
        answer = chunk if answer is None else answer + chunk
    return answer


def converse(protocol: str, model: str, streamed: bool) -> list[str]:
    bound = model_of(protocol, model).bind_tools([opening_hours])
    conversation, answers = [], []
    for question in json.loads(os.environ["QUESTIONS"]):
        conversation.append(HumanMessage(question))
        while True:
            answer = answer_of(bound, conversation, streamed)
            conversation.append(answer)
            if not answer.tool_calls:
                break
            for call in answer.tool_calls:
                content = opening_hours.invoke(call["args"])
                conversation.append(ToolMessage(content, tool_call_id=call["id"]))
        answers.append(str(answer.text))
    return answers


outcomes = []
for each in json.loads(os.environ["CONVERSATIONS"]):
    try:
        outcomes.append(converse(**each))
    except Exception as error:
        outcomes.append([str(error)])
print(json.dumps(outcomes))
