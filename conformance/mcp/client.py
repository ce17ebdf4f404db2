"""Drives a server of skills through a whole skill, with the official Python SDK: list, activate, read, run.

    python3 client.py stdio PROGRAM [ARGUMENTS…]
    python3 client.py http URL TOKEN
"""

import asyncio
import hashlib
import sys

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def drive(server, mode):
    async with Client(server, mode=mode) as client:
        assert client.server_capabilities.resources is not None
        assert "greet" in client.instructions, client.instructions
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"skill_use", "skill_read_file", "skill_run_script", "skill_search"} <= tools, tools
        found = await client.call_tool("skill_search", {"query": "greet somebody"})
        assert found.structured_content["skills"][0]["name"] == "greet", found
        used = await client.call_tool("skill_use", {"skill_name": "greet"})
        assert not used.is_error and "scripts/hello.sh" in text(used), used
        read = await client.call_tool("skill_read_file", {"skill_name": "greet", "file_path": "references/tone.md"})
        assert text(read) == "Be kind and brief.\n", read
        ran = await client.call_tool(
            "skill_run_script", {"skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada"}
        )
        assert not ran.is_error and ran.structured_content["stdout"] == "hello Ada", ran
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert "greet" in prompts, prompts
        got = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
        assert "arg1='one', arg2='two'" in got.messages[0].content.text, got
        listed = {resource.uri: resource for resource in (await client.list_resources()).resources}
        tone = await client.read_resource("skill://greet/references/tone.md")
        body = tone.contents[0].text.encode()
        entry = listed["skill://greet/references/tone.md"]
        assert entry.size == len(body), entry
        assert entry.meta["io.modelcontextprotocol.skills/digest"] == "sha256:" + hashlib.sha256(body).hexdigest(), entry
        return client.protocol_version


async def main():
    way, target, *rest = sys.argv[1:]
    for mode, expect in [("legacy", "2025-11-25"), ("auto", "2026-07-28")]:
        if way == "stdio":
            version = await drive(StdioServerParameters(command=target, args=rest), mode)
        else:
            headers = {"Authorization": f"Bearer {rest[0]}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                version = await drive(streamable_http_client(target, http_client=http), mode)
        assert version == expect, (version, expect)
        print(f"{way}, {version}: a whole skill, listed, activated, read and run")


asyncio.run(main())
