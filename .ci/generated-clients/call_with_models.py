"""Calls the service with httpx and the models that datamodel-code-generator has made."""

import os

import httpx
from models import Flow, FlowList, FlowType, Problem, ProblemCode, Project

api = httpx.Client(base_url=os.environ["API_URL"], headers={"authorization": f"Bearer {os.environ['API_KEY']}"})
project = Project.model_validate(api.post("/v1/projects", json={"name": "Modelled"}).json())
flows = f"/v1/projects/{project.id}/flows"
made = api.post(flows, json={"name": "Opening hours", "flowSchema": {}, "type": FlowType.graph})
flow = Flow.model_validate(made.json())
assert flow.type is FlowType.graph, flow.type
listed = FlowList.model_validate(api.get(flows).json())
assert [one.id for one in listed.flows] == [flow.id], listed
missing = Problem.model_validate(api.get("/v1/flows/c" + "0" * 24).json())
assert missing.code is ProblemCode.flow_not_found, missing.code
print("reads a flow, a list and a problem")
