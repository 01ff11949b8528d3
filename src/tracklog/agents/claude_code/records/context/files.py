"""Attachments about files and memory: what the client showed to the model."""

from __future__ import annotations

from msgspec import Raw

from tracklog.agents.claude_code.records.envelope import Attachment


class FileContext(Attachment):
    """A file or directory whose content was added."""

    filename: str | None = None
    display_path: str | None = None
    path: str | None = None
    content: Raw = Raw()
    truncated: bool | None = None
    saved_copy_framing: Raw = Raw()


class File(FileContext, tag="file"):
    """A file."""


class Directory(FileContext, tag="directory"):
    """A directory's listing."""

    query: str | None = None


class AlreadyReadFile(FileContext, tag="already_read_file"):
    """A file that the model had read before."""


class PdfReference(FileContext, tag="pdf_reference"):
    """A PDF, by name."""

    still_arriving: bool | None = None
    page_count: int | None = None
    file_size: int | None = None


class CompactFileReference(FileContext, tag="compact_file_reference"):
    """A file that a compaction left out."""


class PlanFileReference(FileContext, tag="plan_file_reference"):
    """The plan."""

    plan_content: str | None = None
    plan_file_path: str | None = None


class EditedTextFile(FileContext, tag="edited_text_file"):
    """A file that changed since the model read it."""

    snippet: str | None = None
    reread_entry: Raw = Raw()


class EditedImageFile(FileContext, tag="edited_image_file"):
    """An image that changed."""


class IdeContext(FileContext):
    """What the editor shows."""

    ide_name: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    text: str | None = None


class SelectedLinesInIde(IdeContext, tag="selected_lines_in_ide"):
    """Lines selected in the editor."""


class SelectedLinesInDiff(IdeContext, tag="selected_lines_in_diff"):
    """Lines selected in a diff."""

    file_path: str | None = None
    line_count: int | None = None


class OpenedFileInIde(IdeContext, tag="opened_file_in_ide"):
    """The file open in the editor."""


class DiagnosticsContext(Attachment, tag="diagnostics"):
    """Errors and warnings of the editor."""

    files: Raw = Raw()
    is_new: bool | None = None


class MemoryAttachment(Attachment):
    """Instructions from memory files."""

    path: str | None = None
    display_path: str | None = None
    content: Raw = Raw()
    memories: Raw = Raw()
    files: Raw = Raw()
    text: str | None = None


class NestedMemory(MemoryAttachment, tag="nested_memory"):
    """A CLAUDE.md further down."""


class RelevantMemories(MemoryAttachment, tag="relevant_memories"):
    """Memories that fit the prompt."""


class Instructions(MemoryAttachment, tag="instructions"):
    """All instructions."""


class AtMentionReference(FileContext, tag="at_mention_reference"):
    """Files named with @ and not read yet."""

    mentions: Raw = Raw()
    ranges: Raw = Raw()
    unread: Raw = Raw()
    file_size: int | None = None
    total_lines: int | None = None
    are_pdfs_to_read_plainly: bool | None = None
    read_all_of_it: bool | None = None


class InlinedImagePaths(Attachment, tag="inlined_image_paths"):
    """Where pictures in the prompt came from."""

    names: list[str] | None = None
    paths: list[str] | None = None


class Reads(Attachment):
    """Documents that were read on the way."""

    reads: Raw = Raw()


class ProjectDocReads(Reads, tag="project_doc_reads"):
    """Documents of the project."""


class MessagePdfReads(Reads, tag="message_pdf_reads"):
    """PDFs in messages."""


class McpResource(Attachment, tag="mcp_resource"):
    """A resource of an MCP server."""

    server: str | None = None
    uri: str | None = None
    name: str | None = None
    description: str | None = None
    display_text: str | None = None
    content: Raw = Raw()


class MemoryUpdate(Attachment, tag="memory_update"):
    """Memory files changed."""

    paths: list[str] | None = None
    in_context_paths: list[str] | None = None
    source: str | None = None
    summary: str | None = None


class WithheldMemory(Attachment, tag="withheld_memory"):
    """Memory that was not shown."""

    entries: Raw = Raw()
    by: str | None = None


class AccountMemory(Attachment):
    """Memory of the account."""

    content: str | None = None
    anchor: bool | None = None
    leg: Raw = Raw()
    tools_only: bool | None = None
    version: Raw = Raw()


class CoworkMemoryContext(AccountMemory, tag="cowork_memory_context"):
    """A snapshot of it."""


class AccountMemoryRecall(AccountMemory, tag="account_memory_recall"):
    """A part of it that was recalled."""


class InstructionFilesNotLoaded(MemoryAttachment, tag="instruction_files_not_loaded"):
    """Instructions that were left out."""


AnyFileContext = (
    File | Directory | AlreadyReadFile | PdfReference | CompactFileReference | PlanFileReference | EditedTextFile
    | EditedImageFile | SelectedLinesInIde | SelectedLinesInDiff | OpenedFileInIde | DiagnosticsContext
    | NestedMemory | RelevantMemories | Instructions | AtMentionReference | InlinedImagePaths | ProjectDocReads
    | MessagePdfReads | McpResource | MemoryUpdate | WithheldMemory | CoworkMemoryContext | AccountMemoryRecall
    | InstructionFilesNotLoaded
)  # fmt: skip
