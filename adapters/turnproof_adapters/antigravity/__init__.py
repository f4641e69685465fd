"""The reference adapter for Google's Cloud Code gateway, `v1internal`, as Antigravity uses it.

`binding.BINDING` opens it. There is no SDK for this gateway: both paths speak to it over httpx2.
"""
