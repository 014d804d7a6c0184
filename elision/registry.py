"""The plugin registry: loads plugins once, checks them, and finds what they offer by name."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import pluggy

from elision import hookspecs
from elision.errors import PluginError, nearest
from elision.hookspecs import PROJECT
from elision.plugin_checks import functions, glob, key, listed, texts, unmarked

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from elision.archive import Store
    from elision.dialect import Dialect
    from elision.processor import Processor


class Plugins:
    """Everything that the loaded plugins offer, by name."""

    def __init__(self, manager: pluggy.PluginManager) -> None:
        self.manager = manager
        self.hook: Any = manager.hook

    @cached_property
    def _processors(self) -> Mapping[str, type[Processor]]:
        return self._collect("elision_processors", _type_of)

    @cached_property
    def _dialects(self) -> Mapping[str, Dialect]:
        return self._collect("elision_dialects", lambda dialect: str(dialect.name))

    @cached_property
    def _templates(self) -> Mapping[str, str]:
        return dict(self._collect("elision_templates", key, texts).values())

    @cached_property
    def _summary_templates(self) -> Mapping[str, str]:
        return dict(self._collect("elision_summary_templates", key, texts).values())

    @cached_property
    def _tables(self) -> Mapping[str, str]:
        return dict(self._collect("elision_tables", key, texts).values())

    @cached_property
    def _profiles(self) -> Mapping[str, str]:
        return dict(self._collect("elision_profiles", key, texts).values())

    @cached_property
    def _hosts(self) -> Mapping[str, str]:
        return dict(self._collect("elision_hosts", key, texts).values())

    @cached_property
    def _archives(self) -> Mapping[str, Callable[[str], Store]]:
        return dict(self._collect("elision_archives", key, functions).values())

    @cached_property
    def _token_counters(self) -> Mapping[str, Callable[[str], int]]:
        found = self._collect("elision_token_counters", glob, functions)
        return {pattern: function for pattern, (_, function) in found.items()}

    def processors(self) -> Mapping[str, type[Processor]]:
        """Return processor classes by their ``type``."""
        return self._processors

    def dialects(self) -> list[Dialect]:
        """Return dialects, in the order of registration."""
        return list(self._dialects.values())

    def templates(self) -> Mapping[str, str]:
        """Return the sources of placeholder templates by name."""
        return self._templates

    def summary_templates(self) -> Mapping[str, str]:
        """Return the sources of templates of summaries and what goes with them, by name."""
        return self._summary_templates

    def tables(self) -> Mapping[str, str]:
        """Return the YAML of classification tables by name."""
        return self._tables

    def profiles(self) -> Mapping[str, str]:
        """Return the YAML of model and provider profiles by name."""
        return self._profiles

    def hosts(self) -> Mapping[str, str]:
        """Return the modules of hosts by name."""
        return self._hosts

    def archives(self) -> Mapping[str, Callable[[str], Store]]:
        """Return what opens the store of a URL, by its scheme."""
        return self._archives

    def token_counters(self) -> Mapping[str, Callable[[str], int]]:
        """Return what counts tokens, by a glob over the names of models in small letters."""
        return self._token_counters

    def owner(self, hook: str, name: str) -> str:
        """Return the name of the plugin that offers ``name`` through ``hook``."""
        return self._owners.get((hook, name), "?")

    @cached_property
    def _owners(self) -> dict[tuple[str, str], str]:
        return {}

    def _collect(
        self, hook: str, name_of: Callable[[Any], str], items_of: Callable[[Any], Iterable[Any]] = listed
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for plugin, answer in self._answers(hook):
            for item in self._offered(items_of, answer, plugin, hook):
                name = self._name(name_of, item, plugin, hook)
                if name in found:
                    other = self._owners[hook, name]
                    raise PluginError(
                        f"plugins {other!r} and {plugin!r}: both offer {name!r} through {hook}; "
                        f"names are unique; rename one, or switch third-party plugins off with ELISION_PLUGINS="
                    )
                found[name] = item
                self._owners[hook, name] = plugin
        return found

    @staticmethod
    def _offered(items_of: Callable[[Any], Iterable[Any]], answer: Any, plugin: str, hook: str) -> list[Any]:
        try:
            return list(items_of(answer))
        except TypeError as error:
            raise PluginError(f"plugin {plugin!r}: {hook} {error}; mend it (docs/plugins.md)") from error

    @staticmethod
    def _name(name_of: Callable[[Any], str], item: Any, plugin: str, hook: str) -> str:
        try:
            return name_of(item)
        except ValueError as error:
            raise PluginError(f"plugin {plugin!r}: {hook} offers {error}; mend it") from error
        except (AttributeError, TypeError) as error:
            raise PluginError(
                f"plugin {plugin!r}: {hook} offers {item!r}, which has no name ({error}); mend it"
            ) from error

    def tell(self, hook: str, **facts: Any) -> Iterator[str]:
        """Tell every plugin that listens to ``hook``; yield what those that raised said, after naming them."""
        for plugin, single in self._callers(hook):
            try:
                single(**facts)
            except Exception as error:  # noqa: BLE001 (a listener may raise anything; the others are told all the same)
                yield f"plugin {plugin!r}: {type(error).__name__}: {error}"

    def _answers(self, hook: str) -> Iterator[tuple[str, Any]]:
        for plugin, single in self._callers(hook):
            try:
                for answer in single():
                    yield plugin, answer
            except Exception as error:
                raise PluginError(
                    f"plugin {plugin!r}: {hook} failed ({type(error).__name__}: {error}); "
                    "mend or uninstall it, or switch third-party plugins off with ELISION_PLUGINS="
                ) from error

    def _callers(self, hook: str) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield one hook plugin by plugin, in the order of registration, so that each answer and error has a name."""
        implementations = getattr(self.hook, hook).get_hookimpls()
        for implementation in implementations:
            others = {other.plugin for other in implementations} - {implementation.plugin}
            yield implementation.plugin_name, self.manager.subset_hook_caller(hook, others)


@cache
def plugins() -> Plugins:
    """Return the plugins of this process, loaded on first use."""
    return load_plugins(entry_points(group=PROJECT), os.environ)


def processor_types() -> Mapping[str, type[Processor]]:
    """Return the processor classes that the loaded plugins offer, by ``type``."""
    return plugins().processors()


def load_plugins(points: Iterable[EntryPoint], environ: Mapping[str, str]) -> Plugins:
    """Load plugins: Elision's own first, then third parties by name.

    ``ELISION_PLUGINS`` names the third-party plugins to load, separated by commas; set and empty, it loads none.
    ``ELISION_TRACE_HOOKS=1`` prints each hook call and its result.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    if environ.get("ELISION_TRACE_HOOKS") == "1":
        manager.add_hookcall_monitoring(_trace_call, _trace_result)
    wanted = environ.get("ELISION_PLUGINS")
    names = None if wanted is None else [name.strip() for name in wanted.split(",") if name.strip()]
    for point in _chosen(list(points), names):
        _register(manager, point)
    _check(manager)
    for told in unmarked(manager):
        from elision.session import ElisionWarning

        warnings.warn(told, ElisionWarning, stacklevel=3)
    return Plugins(manager)


def _chosen(points: Sequence[EntryPoint], names: Sequence[str] | None) -> list[EntryPoint]:
    """Return the entry points to load, in order; each has a name and a module of its own."""
    own = [point for point in points if point.value.startswith("elision.")]
    others = sorted((point for point in points if point not in own), key=lambda point: point.name)
    installed = [point.name for point in others]
    for name in names or ():
        if name not in installed and name not in [point.name for point in own]:
            meant = nearest(name, installed, what="installed plugins") if installed else "no third-party one is"
            raise PluginError(f"ELISION_PLUGINS: no plugin {name!r} is installed; {meant}; correct it, or install it")
    chosen = [*own, *(point for point in others if names is None or point.name in names)]
    for index, point in enumerate(chosen):
        for other in chosen[:index]:
            if point.value == other.value:
                raise PluginError(
                    f"plugins {other.name!r} and {point.name!r}: both entry points name the module {point.value}; "
                    "a module is one plugin; remove one entry point"
                )
            if point.name == other.name:
                raise PluginError(
                    f"plugin {point.name!r}: two entry points have this name ({other.value} and {point.value}); "
                    "names are unique; rename one, or uninstall its package"
                )
    return chosen


def _register(manager: pluggy.PluginManager, point: EntryPoint) -> None:
    try:
        manager.register(point.load(), name=point.name)
    except Exception as error:
        raise PluginError(
            f"plugin {point.name!r} ({point.value}): cannot be loaded ({type(error).__name__}: {error}); "
            "mend or uninstall it, or switch third-party plugins off with ELISION_PLUGINS="
        ) from error


def _check(manager: pluggy.PluginManager) -> None:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        callers = vars(manager.hook)
        known = [name for name, caller in callers.items() if caller.has_spec()]
        wrong = next(name for name in callers if name not in known)
        raise PluginError(
            f"plugin {manager.get_name(error.plugin)!r}: there is no hook {wrong!r}; "
            f"{nearest(wrong, known, what='hooks')} (docs/plugins.md); correct its name or remove it"
        ) from error


def _type_of(processor: Any) -> str:
    fields = getattr(processor, "model_fields", {})
    default = fields["type"].default if "type" in fields else None
    if not isinstance(default, str):
        raise TypeError(f"{processor!r} is not a Processor with a field type: Literal[...] = ...")
    return default


def _trace_call(hook: str, implementations: Any, arguments: Mapping[str, Any]) -> None:
    names = ", ".join(impl.plugin_name for impl in implementations) or "nobody"
    given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    sys.stderr.write(f"elision hook {hook}({given}) -> {names}\n")


def _trace_result(outcome: Any, hook: str, implementations: Any, arguments: Mapping[str, Any]) -> None:  # noqa: ARG001
    shown = repr(outcome.exception or outcome.get_result())
    sys.stderr.write(f"elision hook {hook} = {shown[:500]}\n")
