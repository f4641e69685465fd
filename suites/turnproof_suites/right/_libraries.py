"""Files of public libraries that take a freedom of a right adapter."""

from __future__ import annotations

from ._right import Library

ADK_ANTHROPIC = Library("google/adk-python", "src/google/adk/models/anthropic_llm.py")
ADK_GEMINI = Library("google/adk-python", "src/google/adk/models/google_llm.py")
AGENTS_CHAT = Library("openai/openai-agents-python", "src/agents/models/chatcmpl_converter.py")
AGENTS_RESPONSES = Library("openai/openai-agents-python", "src/agents/models/openai_responses.py")
AGENTS_STRICT_SCHEMA = Library("openai/openai-agents-python", "src/agents/strict_schema.py")
ANTHROPIC_BETA = Library("anthropics/anthropic-sdk-python", "src/anthropic/resources/beta/messages/messages.py")
AUTOGEN_ANTHROPIC = Library(
    "microsoft/autogen", "python/packages/autogen-ext/src/autogen_ext/models/anthropic/_anthropic_client.py"
)
AUTOGEN_OPENAI = Library(
    "microsoft/autogen", "python/packages/autogen-ext/src/autogen_ext/models/openai/_message_transform.py"
)
GOOGLE_BYTES = Library("googleapis/python-genai", "google/genai/_common.py")
GOOGLE_CALLS = Library("googleapis/python-genai", "google/genai/_extra_utils.py")
HAYSTACK_ANTHROPIC = Library(
    "deepset-ai/haystack-core-integrations",
    "integrations/anthropic/src/haystack_integrations/components/generators/anthropic/chat/chat_generator.py",
)
HAYSTACK_ANTHROPIC_ANSWERS = Library(
    "deepset-ai/haystack-core-integrations",
    "integrations/anthropic/src/haystack_integrations/components/generators/anthropic/chat/utils.py",
)
HAYSTACK_CHUNKS = Library("deepset-ai/haystack", "haystack/components/generators/utils.py")
HAYSTACK_GOOGLE = Library(
    "deepset-ai/haystack-core-integrations",
    "integrations/google_genai/src/haystack_integrations/components/generators/google_genai/chat/chat_generator.py",
)
HAYSTACK_MESSAGES = Library("deepset-ai/haystack", "haystack/dataclasses/chat_message.py")
HAYSTACK_OPENAI = Library("deepset-ai/haystack", "haystack/components/generators/chat/openai.py")
LANGCHAIN_ANTHROPIC = Library("langchain-ai/langchain", "libs/partners/anthropic/langchain_anthropic/chat_models.py")
LANGCHAIN_CACHING = Library(
    "langchain-ai/langchain", "libs/partners/anthropic/langchain_anthropic/middleware/prompt_caching.py"
)
LANGCHAIN_CODEX = Library("langchain-ai/langchain", "libs/partners/openai/langchain_openai/chat_models/codex.py")
LANGCHAIN_GOOGLE = Library("langchain-ai/langchain-google", "libs/genai/langchain_google_genai/chat_models.py")
LANGCHAIN_OPENAI = Library("langchain-ai/langchain", "libs/partners/openai/langchain_openai/chat_models/base.py")
LITELLM_ANTHROPIC = Library("BerriAI/litellm", "litellm/llms/anthropic/chat/transformation.py")
LITELLM_ERRORS = Library("BerriAI/litellm", "litellm/litellm_core_utils/exception_mapping_utils.py")
LITELLM_IDS = Library("BerriAI/litellm", "litellm/litellm_core_utils/prompt_templates/factory.py")
LITELLM_NAMES = Library("BerriAI/litellm", "litellm/llms/anthropic/messages/adapters/transformation.py")
LLAMA_INDEX_GOOGLE = Library(
    "run-llama/llama_index",
    "llama-index-integrations/llms/llama-index-llms-google-genai/llama_index/llms/google_genai/utils.py",
)
LLAMA_INDEX_OPENAI = Library(
    "run-llama/llama_index", "llama-index-integrations/llms/llama-index-llms-openai/llama_index/llms/openai/base.py"
)
PYDANTIC_AI_ANTHROPIC = Library("pydantic/pydantic-ai", "pydantic_ai_slim/pydantic_ai/models/anthropic/__init__.py")
PYDANTIC_AI_CHAT = Library("pydantic/pydantic-ai", "pydantic_ai_slim/pydantic_ai/models/openai/_chat_model.py")
PYDANTIC_AI_DEBOUNCE = Library("pydantic/pydantic-ai", "pydantic_ai_slim/pydantic_ai/_utils.py")
PYDANTIC_AI_PREFIX = Library("pydantic/pydantic-ai", "pydantic_ai_slim/pydantic_ai/toolsets/prefixed.py")
SMOLAGENTS = Library("huggingface/smolagents", "src/smolagents/models.py")
STRANDS_ANTHROPIC = Library("strands-agents/sdk-python", "src/strands/models/anthropic.py")
STRANDS_OPENAI = Library("strands-agents/sdk-python", "src/strands/models/openai.py")
STRANDS_THREADS = Library("strands-agents/sdk-python", "src/strands/_async.py")
VERCEL_SCHEMAS = Library(
    "vercel/ai", "packages/provider-utils/src/to-json-schema/zod3-to-json-schema/zod3-to-json-schema.ts"
)
VERCEL_SMOOTH = Library("vercel/ai", "packages/ai/src/generate-text/smooth-stream.ts")
